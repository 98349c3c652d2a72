{#- A floating-point type of 64 bits: dbt's own float has 32 on some adapters. -#}
{% macro type_double() %}
  {{- return(adapter.dispatch("type_double", "kanon")()) -}}
{% endmacro %}

{% macro default__type_double() %}double precision{% endmacro %}

{% macro bigquery__type_double() %}float64{% endmacro %}

{% macro spark__type_double() %}double{% endmacro %}

{% macro sqlserver__type_double() %}float{% endmacro %}


{#- The natural logarithm. -#}
{% macro ln(expression) %}
  {{- return(adapter.dispatch("ln", "kanon")(expression)) -}}
{% endmacro %}

{% macro default__ln(expression) %}ln({{ expression }}){% endmacro %}

{% macro sqlserver__ln(expression) %}log({{ expression }}){% endmacro %}
