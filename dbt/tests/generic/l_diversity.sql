{#- Every class has l well-represented values of a sensitive column (NULL is one): `distinct`, l different ones; `entropy`,
    values as diverse as l equally frequent ones. With `unit`, values are counted by people. A class then has no entropy
    if a person has several values in it, because the shares do not add up to 1. -#}
{% test l_diversity(model, quasi_identifiers, sensitive, l, kind="distinct", unit=none) %}
{%- if execute -%}
{%- do kanon.check_arguments("l_diversity", kwargs, "quasi_identifiers, sensitive, l, kind, unit") -%}
{%- set kind = kanon.choice("kind", kind, ["distinct", "entropy"]) -%}
{%- set l = kanon.figure("l", l, 1, whole=kind == "distinct") -%}
{%- set sensitive = kanon.name("sensitive", sensitive) -%}
{%- set double = kanon.type_double() -%}
with {{ kanon.class_values(model, quasi_identifiers, sensitive, unit) }},
kanon_classes as (
  select
    sum(n) as class_rows,
    {%- if kind == "distinct" %}
    count(c) as achieved
    {%- else %}
    {%- if unit %}
    case when sum(c) = sum(people) then 1 else 0 end as adds_up,
    {%- endif %}
    {{ kanon.ln("cast(sum(c) as " ~ double ~ ")") }}
      - sum(c * {{ kanon.ln("cast(c as " ~ double ~ ")") }}) / cast(sum(c) as {{ double }}) as entropy
    {%- endif %}
  from kanon_class_values
  group by {{ kanon.class_keys(quasi_identifiers) }}
)
{%- if kind == "distinct" %}
select class_rows, achieved, {{ l }} as required
from kanon_classes
where achieved < {{ l }}
{%- else %}
{#- A class of exactly l equal counts lies on the border: figures with a logarithm may be off a little. #}
select class_rows, exp(entropy) as achieved, {{ l }} as required
from kanon_classes
where entropy is null or {{ "adds_up = 0 or " if unit else "" }}entropy < {{ kanon.ln("cast(" ~ l ~ " as " ~ double ~ ")") }} - 0.000000001
{%- endif -%}
{%- endif -%}
{% endtest %}
