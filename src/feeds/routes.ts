/** The API for feeds. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import {
  decideFeed,
  deleteFeed,
  listFeedLanguages,
  listFeeds,
  previewFeed,
  removeFeedLanguage,
  saveFeed,
  saveFeedLanguage,
  switchFeed,
} from './operations.ts';

export const feedRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const feeds = operationRoutes(app, deps, 'Feeds');
  feeds.read('GET /feeds', listFeeds);
  feeds.read('POST /feeds/save', saveFeed);
  feeds.change('POST /feeds/switch', switchFeed, 'Updated Successfully');
  feeds.change('POST /feeds/decide', decideFeed, 'Updated Successfully');
  feeds.change('POST /feeds/delete', deleteFeed, 'Deleted Successfully');
  feeds.read('GET /feeds/preview', previewFeed);
  feeds.read('GET /feeds/languages', listFeedLanguages);
  feeds.read('POST /feeds/languages', saveFeedLanguage);
  feeds.read('POST /feeds/languages/remove', removeFeedLanguage);
};
