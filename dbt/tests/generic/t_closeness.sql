{#- The values of a sensitive column (NULL is one, and the last in their order) are distributed in every class as in the
    whole table, up to an earth mover's distance of t: `equal`, all values are equally distant; `ordered`, by their order.
    The whole table is `against`, such as ref('stg_patients'). Without it, it is the tested model itself, a weaker test of
    a release, which can lack suppressed rows. With `unit`, values are counted by people. Each person must have one value,
    otherwise the shares do not add up to 1. -#}
{% test t_closeness(model, quasi_identifiers, sensitive, t, distance="equal", against=none, unit=none) %}
{%- if execute -%}
{%- do kanon.check_arguments("t_closeness", kwargs, "quasi_identifiers, sensitive, t, distance, against, unit") -%}
{%- set distance = kanon.choice("distance", distance, ["equal", "ordered"]) -%}
{%- set t = kanon.figure("t", t, 0, 1) -%}
{%- set sensitive = kanon.name("sensitive", sensitive) -%}
{%- set double = kanon.type_double() -%}
{%- set keys = kanon.class_keys(quasi_identifiers) -%}
with {{ kanon.class_values(model, quasi_identifiers, sensitive, unit) }},
{{ kanon.whole_values(against or model, sensitive, unit) }},
kanon_compared as (
  select
    {{ kanon.class_keys(quasi_identifiers, "v") }},
    v.n,
    v.c,
    sum(v.c) over (partition by {{ kanon.class_keys(quasi_identifiers, "v") }}) as size,
    case when v.kanon_value is null then t.null_c else w.overall_c end as overall_c,
    case when v.kanon_value is null then t.null_place else w.place end as place,
    t.overall_size,
    t.overall_values
    {%- if unit %},
    v.people,
    t.overall_people
    {%- endif %}
  from kanon_class_values as v
  cross join kanon_totals as t
  left join kanon_whole as w on w.kanon_value = v.kanon_value
),
{%- if distance == "equal" %}
kanon_distances as (
  select
    sum(n) as class_rows,
    sum(case when c * overall_size > overall_c * size then c * overall_size - overall_c * size else 0 end) as moved,
    cast(sum(c) as {{ double }}) * max(overall_size) as whole,
    case
      when count(c) = count(overall_c)
        {%- if unit %} and sum(c) = sum(people) and max(overall_size) = max(overall_people){% endif %} then 1
      else 0
    end as known
  from kanon_compared
  group by {{ keys }}
)
{%- else %}
kanon_dense as (
  select
    {{ kanon.class_keys(quasi_identifiers, "d") }},
    sum(d.n) as n,
    sum(d.c) as size,
    sum(case when d.place <= w.place then d.c else 0 end) as c_to,
    sum(case when d.place = w.place then d.c else 0 end) as c,
    w.overall_c_to,
    d.overall_size,
    d.overall_values
    {%- if unit %},
    sum(d.people) as people,
    max(d.overall_people) as overall_people
    {%- endif %}
  from kanon_compared as d
  cross join kanon_whole as w
  group by {{ kanon.class_keys(quasi_identifiers, "d") }}, w.place, w.overall_c_to, d.overall_size, d.overall_values
),
kanon_distances as (
  select
    max(n) as class_rows,
    sum(abs(c_to * overall_size - overall_c_to * size)) as moved,
    cast(max(size) as {{ double }}) * max(overall_size) * max(case when overall_values > 1 then overall_values - 1 else 1 end) as whole,
    case
      when sum(c) = max(size)
        {%- if unit %} and sum(c) = max(people) and max(overall_size) = max(overall_people){% endif %} then 1
      else 0
    end as known
  from kanon_dense
  group by {{ keys }}
)
{%- endif %}
select class_rows, moved / nullif(whole, 0) as achieved, {{ t }} as required
from kanon_distances
where known = 0 or whole is null or moved is null or moved > {{ t }} * whole
{%- endif -%}
{% endtest %}
