/** The API of unsubscribe groups, unsubscribed addresses and the suppression list. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import {
  listUnsubscribedFromAll,
  listUnsubscribedFromGroup,
  removeAllFromGlobalList,
  removeAllFromGroup,
  removeFromGlobalList,
  removeFromGroup,
  unsubscribeFromAll,
  unsubscribeFromGroup,
} from './entries.ts';
import { addGroup, changeGroup, countUsesOfGroup, deleteGroup, listGroups, readGroup } from './groups.ts';
import { listSuppressed, removeFromSuppressionList, reportBounce } from './suppressed.ts';

export const unsubscribedRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const global = operationRoutes(app, deps, 'Global unsubscribes');
  global.list('GET /global-unsubscribes', listUnsubscribedFromAll);
  global.change('POST /global-unsubscribes/save', unsubscribeFromAll, 'Added Successfully');
  global.change('DELETE /global-unsubscribes/delete', removeFromGlobalList, 'Deleted Successfully');
  global.change('POST /global-unsubscribes/bulk-delete', removeAllFromGlobalList, 'Deleted Successfully');

  const groups = operationRoutes(app, deps, 'Unsubscribe groups');
  groups.list('GET /unsubscribes-groups', listGroups);
  groups.change(
    'POST /unsubscribes-groups/save',
    addGroup,
    'Saved Successfully',
    ({ id }) => `/api/unsubscribes-groups/details?id=${id}`,
  );
  groups.record('GET /unsubscribes-groups/details', readGroup);
  groups.change('POST /unsubscribes-groups/update?id', changeGroup, 'Updated Successfully');
  groups.read('GET /unsubscribes-groups/uses', countUsesOfGroup);
  groups.change('DELETE /unsubscribes-groups/delete', deleteGroup, 'Deleted Successfully');
  groups.change('POST /unsubscribes-groups/manually-add', unsubscribeFromGroup, 'Added Successfully');
  groups.list('GET /unsubscribes-groups/recipients-list', listUnsubscribedFromGroup);
  groups.change('DELETE /unsubscribes-groups/recipients-delete', removeFromGroup, 'Deleted Successfully');
  groups.change('POST /unsubscribes-groups/recipients-bulk-delete', removeAllFromGroup, 'Deleted Successfully');

  const suppressed = operationRoutes(app, deps, 'Bounces and suppressions');
  suppressed.change('POST /bounces', reportBounce, 'Recorded Successfully');
  suppressed.list('GET /suppressions/list', listSuppressed);
  suppressed.change('DELETE /suppressions/delete', removeFromSuppressionList, 'Deleted Successfully');
};
