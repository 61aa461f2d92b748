FROM node:24-bookworm-slim AS build
WORKDIR /opt/sendlark
COPY . .
RUN npm ci && npm run build && npm prune --omit=dev --omit=optional

FROM node:24-bookworm-slim
WORKDIR /opt/sendlark
COPY --from=build /opt/sendlark/package.json ./
COPY --from=build /opt/sendlark/node_modules ./node_modules
COPY --from=build /opt/sendlark/dist ./dist
COPY --from=build /opt/sendlark/drizzle ./drizzle
COPY --from=build /opt/sendlark/data ./data
RUN mkdir /data && chown node:node /data
ENV HOST=0.0.0.0 DATABASE_PATH=/data/sendlark.db MALLOC_ARENA_MAX=1
VOLUME /data
EXPOSE 3000
USER node
CMD ["node", "dist/cli.js", "serve"]
