# coterie in a container, built from this source tree:
#   docker build -t coterie .
#   docker run --rm -v "$PWD:/data" coterie fit reviews.csv --text body -o reviews
# With extras: docker build --build-arg EXTRAS="[lemmas,zh]" -t coterie .

FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
ARG EXTRAS=""
ENV PYTHONDONTWRITEBYTECODE=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    NUMBA_CACHE_DIR=/var/cache/coterie
COPY constraints.txt /tmp/constraints.txt
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir -c /tmp/constraints.txt "$(echo /tmp/wheels/*.whl)${EXTRAS}" \
    && rm -r /tmp/wheels /tmp/constraints.txt

# Not root. Files in /data belong to this user; for another one, use docker run --user.
RUN useradd --create-home --uid 1000 coterie \
    && install --directory --owner=coterie /data /var/cache/coterie
USER coterie

# Compiles the inner loops now, so that no container has to. They suit the processor that builds the
# image; on a different one they are compiled again, by any user (see docs/install.md).
RUN cd "$(mktemp -d)" \
    && python -c "from coterie import datasets; datasets.tickets(300).write_csv('t.csv')" \
    && coterie fit t.csv --text body -o vectors --quiet \
    && coterie fit t.csv --text body --embedder none -o words --quiet \
    && coterie predict vectors t.csv -o predicted.csv --quiet \
    && rm -r "$PWD" \
    && chmod -R a+rwX /var/cache/coterie

WORKDIR /data
ENTRYPOINT ["coterie"]
CMD ["--help"]
