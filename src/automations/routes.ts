/** The API for automations and their mails. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import {
  createAutomation,
  deleteAutomation,
  deleteAutomations,
  duplicateAutomation,
  listAutomations,
  pauseAutomation,
  readAutomation,
  readSeries,
  setAutomationLive,
} from './operations/automations.ts';
import {
  addMail,
  addStep,
  changeAutomation,
  changeMail,
  changeStep,
  orderAutomation,
  removeMail,
  removeStep,
} from './operations/changes.ts';
import { checkAutomationMails } from './operations/check.ts';
import { countEntering, enterAll, enterAutomation, stopEntering } from './operations/enter.ts';
import { previewAutomation } from './operations/forecast.ts';
import { listMailLanguages, removeMailLanguage, saveMailLanguage } from './operations/languages.ts';
import { readLog } from './operations/log.ts';
import {
  addDesignToken,
  addSchedule,
  checkAutomationMail,
  deleteSchedule,
  listSchedules,
  listWaiting,
  readAutomationMailCode,
  showAutomationMail,
  showAutomationMailHtml,
  testAutomationMail,
} from './operations/mails.ts';
import { createFromRecipe } from './operations/recipes.ts';
import { replayAutomation } from './operations/replay.ts';
import { listSummaries, readReport } from './operations/reports.ts';
import { readResults } from './operations/results.ts';
import { countTrigger } from './operations/trigger-count.ts';
import { explainAutomation } from './operations/why.ts';
import { replaysOf } from './replay/replays.ts';

export const automationRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  addDesignToken(deps);
  app.addHook('onClose', () => replaysOf(deps.db).end());
  const routes = operationRoutes(app, deps, 'Automations');
  routes.list('GET /automations', listAutomations);
  routes.read('POST /automations/create', createAutomation, ({ utr }) => `/api/automations/details?utr=${utr}`);
  routes.read('GET /automations/duplicate', duplicateAutomation);
  routes.record('GET /automations/details', readAutomation);
  routes.change('GET /automations/pause', pauseAutomation, 'Automation Paused Successfully');
  routes.change('GET /automations/set-live', setAutomationLive, 'Automation has been set live');
  routes.change('DELETE /automations/delete', deleteAutomation, 'Deleted Successfully');
  routes.change('POST /automations/bulk-delete', deleteAutomations, 'Deleted Successfully');
  routes.list('GET /automations/schedule', listSchedules);
  routes.change('POST /automations/schedule/create', addSchedule, 'Schedule Added');
  routes.change('DELETE /automations/schedule/delete', deleteSchedule, 'Deleted Successfully');
  routes.read('POST /automations/create-from-recipe', createFromRecipe);
  routes.read('POST /automations/update', changeAutomation);
  routes.read('POST /automations/enter', enterAutomation);
  routes.read('POST /automations/enter-all', enterAll);
  routes.read('GET /automations/entries', countEntering);
  routes.change('POST /automations/enter-all/stop', stopEntering, 'Entries Stopped');
  routes.read('POST /automations/schedule/add', addMail);
  routes.read('POST /automations/schedule/update', changeMail);
  routes.read('POST /automations/schedule/reorder', orderAutomation);
  routes.read('POST /automations/schedule/remove', removeMail);
  routes.read('POST /automations/step/add', addStep);
  routes.read('POST /automations/step/update', changeStep);
  routes.read('POST /automations/step/remove', removeStep);
  routes.read('GET /automations/series', readSeries);
  routes.record('GET /automations/schedule/mail', showAutomationMail);
  routes.code('GET /automations/schedule/mail/html', showAutomationMailHtml);
  routes.read('GET /automations/schedule/check', checkAutomationMail);
  routes.code('GET /automations/schedule/html', readAutomationMailCode);
  routes.change('POST /automations/schedule/test', testAutomationMail, (message) => message);
  routes.read('GET /automations/schedule/waiting', listWaiting);
  routes.read('GET /automations/schedule/languages', listMailLanguages);
  routes.read('POST /automations/schedule/languages', saveMailLanguage);
  routes.read('POST /automations/schedule/languages/remove', removeMailLanguage);
  routes.read('GET /automations/summaries', listSummaries);
  routes.read('GET /automations/report', readReport);
  routes.read('GET /automations/preview', previewAutomation);
  routes.read('GET /automations/check', checkAutomationMails);
  routes.read('GET /automations/trigger', countTrigger);
  routes.read('GET /automations/why', explainAutomation);
  routes.read('GET /automations/replay', replayAutomation);
  routes.read('GET /automations/results', readResults);
  routes.read('GET /automations/log', readLog);
};
