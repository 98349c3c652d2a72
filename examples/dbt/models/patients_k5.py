from kanon_sql.dbt import release


def model(dbt, session):
    return release(dbt.ref("stg_patients"), session, spec="release.yml", manifest="target/patients_k5.json")
