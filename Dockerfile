# docker build -t kanon-sql . && docker run --rm -v "$PWD:/data" kanon-sql anonymize people.parquet …
FROM python:3.13-slim
COPY . /src
RUN pip install --no-cache-dir "/src[postgres,page,excel]" && rm -rf /src
RUN useradd --create-home kanon
USER kanon
WORKDIR /data
ENTRYPOINT ["kanon"]
