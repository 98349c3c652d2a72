{#- The model is not empty, has no more rows than `against`, such as ref('stg_patients'), and does not lack more of them
    than `suppression_limit`: a fraction of them, or a number of rows such as '20 rows'. -#}
{% test suppression(model, against, suppression_limit) %}
{%- if execute -%}
{%- do kanon.check_arguments("suppression", kwargs, "against, suppression_limit") -%}
{%- set against = kanon.name("against", against) -%}
{%- set rows = kanon.number_of_rows(suppression_limit) if suppression_limit is string else none -%}
{%- set share = kanon.figure("suppression_limit", suppression_limit, 0, 1) if rows is none -%}
{%- set double = kanon.type_double() -%}
with kanon_counts as (
  select (select count(*) from {{ against }}) as all_rows, (select count(*) from {{ model }}) as released_rows
)
select all_rows, released_rows, {{ share if rows is none else rows }} as required
from kanon_counts
where released_rows = 0
  or released_rows > all_rows
  {%- if rows is none %}
  or cast(all_rows - released_rows as {{ double }}) / cast(all_rows as {{ double }}) > cast({{ share }} as {{ double }})
  {%- else %}
  or all_rows - released_rows > {{ rows }}
  {%- endif %}
{%- endif -%}
{% endtest %}
