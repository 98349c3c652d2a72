{#- The model is not empty, and does not lack more rows of `against`, such as ref('stg_patients'), than
    `suppression_limit`: a fraction of them, or a number of rows such as '20 rows'. -#}
{% test suppression(model, against, suppression_limit) %}
{%- set rows = (suppression_limit.split()[0] | int) if suppression_limit is string else none -%}
{%- set share = kanon.figure("suppression_limit", suppression_limit, 0, 1) if rows is none -%}
{%- set double = kanon.type_double() -%}
{%- if execute -%}
with kanon_counts as (
  select (select count(*) from {{ against }}) as all_rows, (select count(*) from {{ model }}) as released_rows
)
select all_rows, released_rows, {{ share if rows is none else rows }} as required
from kanon_counts
where released_rows = 0
  {%- if rows is none %}
  or cast(all_rows - released_rows as {{ double }}) / cast(all_rows as {{ double }}) > cast({{ share }} as {{ double }})
  {%- else %}
  or all_rows - released_rows > {{ rows }}
  {%- endif %}
{%- endif -%}
{% endtest %}
