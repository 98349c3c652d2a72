select
    patient_id,
    name,
    age,
    zip,
    "marital-status",
    admitted,
    disease,
    days
from {{ ref('raw_patients') }}
where admitted is not null
