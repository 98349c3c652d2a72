# docker build -t kanon-sql . && docker run --rm -v "$PWD:/data" kanon-sql anonymize people.parquet …
# Options of the session come from the environment, such as -e KANON_DATABASE -e KANON_THREADS=2; see docs/environment.md.
FROM python:3.13-slim
COPY . /src
RUN pip install --no-cache-dir "/src[postgres,spark,page,excel,lineage,attest,docx]" && rm -rf /src
RUN useradd --create-home kanon
USER kanon
WORKDIR /data
ENTRYPOINT ["kanon"]
