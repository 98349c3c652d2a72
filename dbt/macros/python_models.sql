{#- A warning for every selected Python model that releases by kanon_sql on another adapter than dbt-duckdb. dbt itself
    then fails the model, but names no way out. -#}
{% macro warn_of_python_models() %}
  {%- if execute and target.type != "duckdb" -%}
    {%- for id in selected_resources -%}
      {%- set model = graph.nodes.get(id, {}) -%}
      {%- if model.get("language") == "python" and "kanon_sql" in model.get("raw_code", "") -%}
        {%- do exceptions.warn(
          "kanon: " ~ model.name ~ " releases by kanon_sql in Python, which runs on dbt-duckdb only; "
          ~ kanon.instead_of_python(model.name)
        ) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}


{#- What to do on this adapter instead of a Python model. -#}
{% macro instead_of_python(name) %}
  {%- set dialects = "athena bigquery clickhouse databricks postgres redshift snowflake spark trino".split() -%}
  {%- if target.type in dialects -%}
    {{ return(
      "for " ~ target.type ~ ", write it as a model in SQL with `kanon compile --dbt . --into " ~ name ~ " --dialect "
      ~ target.type ~ "`, and disable the Python model"
    ) }}
  {%- endif -%}
  {{ return(
    "kanon_sql has no SQL for " ~ target.type ~ ", so release the data elsewhere, with dbt-duckdb or `kanon anonymize`, "
    ~ "and load the release"
  ) }}
{% endmacro %}
