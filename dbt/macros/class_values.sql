{#- The CTEs with which all tests of classes begin. Columns have plain names in them: q0, q1, … are the quasi-identifiers.

    kanon_rows: the model's rows. kanon_class_values: one row per class and value, with its rows (n) and its count (c): of
    rows, or of distinct people with `unit`, NULL if no person is known. Without `sensitive`, the value is 1. With `unit`,
    `people` adds up to the people of a class: every person is counted with only one of their values. -#}
{% macro class_values(model, quasi_identifiers, sensitive=none, unit=none) %}
  {%- set known = kanon.columns_of(model) -%}
  {%- set named = kanon.names("quasi_identifiers", quasi_identifiers) -%}
kanon_rows as (
  select
    {% for name in named %}{{ kanon.column(known, name) }} as q{{ loop.index0 }}, {% endfor %}
    {{ kanon.column(known, sensitive) if sensitive else 1 }} as kanon_value
    {%- if unit %}, {{ kanon.column(known, unit) }} as kanon_unit{% endif %}
  from {{ model }}
),
{%- set keys = kanon.class_keys(quasi_identifiers) %}
{%- if unit %}
kanon_person_values as (
  select
    {{ keys }},
    kanon_value,
    kanon_unit,
    count(*) as n,
    row_number() over (partition by {{ keys }}, kanon_unit order by kanon_value) as place
  from kanon_rows
  group by {{ keys }}, kanon_value, kanon_unit
),
{%- endif %}
kanon_class_values as (
  select
    {{ keys }},
    kanon_value,
    {%- if unit %}
    sum(n) as n,
    nullif(count(kanon_unit), 0) as c,
    sum(case when kanon_unit is not null and place = 1 then 1 else 0 end) as people
  from kanon_person_values
    {%- else %}
    count(*) as n,
    count(*) as c
  from kanon_rows
    {%- endif %}
  group by {{ keys }}, kanon_value
)
{%- endmacro %}


{#- The plain names of the quasi-identifiers. -#}
{% macro class_keys(quasi_identifiers, relation=none) %}
  {%- for _ in kanon.names("quasi_identifiers", quasi_identifiers) -%}
    {{ relation ~ "." if relation else "" }}q{{ loop.index0 }}{{ ", " if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#- The CTEs of what classes are compared with: kanon_whole has one row per value of the whole table, its rows or people,
    those up to it by the order of values (NULL last), and its place; kanon_totals adds up, in one row, and knows NULL's
    figures, for NULL equals nothing in a join. -#}
{% macro whole_values(whole, sensitive, unit=none) %}
  {%- set known = kanon.columns_of(whole) -%}
kanon_whole_counts as (
  select
    {{ kanon.column(known, sensitive) }} as kanon_value,
    {{ "count(distinct " ~ kanon.column(known, unit) ~ ")" if unit else "count(*)" }} as overall_c
  from {{ whole }}
  group by {{ kanon.column(known, sensitive) }}
),
kanon_whole as (
  select
    kanon_value,
    overall_c,
    sum(overall_c) over (
      order by case when kanon_value is null then 1 else 0 end, kanon_value
      rows between unbounded preceding and current row
    ) as overall_c_to,
    row_number() over (order by case when kanon_value is null then 1 else 0 end, kanon_value) as place
  from kanon_whole_counts
),
kanon_totals as (
  select
    sum(overall_c) as overall_size,
    {%- if unit %}
    (select count(distinct {{ kanon.column(known, unit) }}) from {{ whole }}) as overall_people,
    {%- endif %}
    count(*) as overall_values,
    max(case when kanon_value is null then overall_c end) as null_c,
    max(case when kanon_value is null then place end) as null_place
  from kanon_whole
)
{%- endmacro %}
