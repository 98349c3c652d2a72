{#- Every class of equal quasi-identifiers (NULL is a value) has at least k rows, or at least k people with `unit`. -#}
{% test k_anonymity(model, quasi_identifiers, k, unit=none) %}
{%- if execute -%}
{%- do kanon.check_arguments("k_anonymity", kwargs, "quasi_identifiers, k, unit") -%}
{%- set k = kanon.figure("k", k, 1, whole=true) -%}
with {{ kanon.class_values(model, quasi_identifiers, none, unit) }}
select n as class_rows, coalesce(c, 0) as class_size, {{ k }} as required
from kanon_class_values
where coalesce(c, 0) < {{ k }}
{%- endif -%}
{% endtest %}
