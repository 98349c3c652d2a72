{#- No column is one of `identifiers`, and no column without a role (`quasi_identifiers`, `sensitive`, `keep`) is an
    identifier by its name, contains e-mail addresses, or differs in nearly every row. Returns columns, never values. -#}
{% test no_identifiers(model, identifiers=none, quasi_identifiers=none, sensitive=none, keep=none) %}
{%- if execute -%}
{%- do kanon.check_arguments("no_identifiers", kwargs, "identifiers, quasi_identifiers, sensitive, keep") -%}
{%- set banned = (([identifiers] if identifiers is string else identifiers) or []) | map("lower") | list -%}
{%- set roles = [] -%}
{%- for role in (quasi_identifiers, sensitive, keep) if role -%}
  {%- do roles.extend((([role] if role is string else role) or []) | map("lower") | list) -%}
{%- endfor -%}
{%- set known = kanon.columns_of(model) %}
with kanon_counts as (
  select
    {%- for name in known %}
    {%- set value = "cast(" ~ kanon.column(known, name) ~ " as " ~ dbt.type_string() ~ ")" %}
    count({{ value }}) as filled_{{ loop.index }},
    count(distinct {{ value }}) as different_{{ loop.index }},
    sum(case when {{ value }} like '%_@_%._%' and {{ value }} not like '% %' then 1 else 0 end) as mails_{{ loop.index }},
    {%- endfor %}
    count(*) as all_rows
  from {{ model }}
),
kanon_columns as (
  {%- for name in known %}
  {{ "union all" if not loop.first }}
  select
    '{{ dbt.escape_single_quotes(name) }}' as column_name,
    {{ 1 if name | lower in banned else 0 }} as banned,
    {{ 1 if name | lower in roles else 0 }} as has_role,
    {{ 1 if kanon.is_named_identifier(name) else 0 }} as named,
    all_rows,
    filled_{{ loop.index }} as filled_rows,
    different_{{ loop.index }} as different_values,
    mails_{{ loop.index }} as mails
  from kanon_counts
  {%- endfor %}
),
kanon_reasons as (
  select
    column_name,
    all_rows,
    filled_rows,
    different_values,
    case
      when banned = 1 then 'is an identifier'
      when has_role = 1 then null
      when named = 1 and different_values >= 3 and (different_values >= 100 or different_values * 50 >= all_rows)
        then 'is an identifier by its name'
      when different_values > 1 and mails * 2 >= filled_rows then 'contains e-mail addresses'
      when filled_rows >= 20 and different_values * 10 >= filled_rows * 9 then 'differs in nearly every row'
    end as reason
  from kanon_columns
)
select column_name, reason, filled_rows, different_values
from kanon_reasons
where reason is not null
{%- endif -%}
{% endtest %}
