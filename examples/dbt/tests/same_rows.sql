-- The model in plain SQL has the rows of the Python model, as often.
{{ config(enabled=target.type == 'duckdb') }}
(select * from {{ ref('patients_k5') }} except all select * from {{ ref('patients_k5_sql') }})
union all
(select * from {{ ref('patients_k5_sql') }} except all select * from {{ ref('patients_k5') }})
