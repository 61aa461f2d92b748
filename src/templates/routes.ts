/** The API for templates. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import { listTemplateLanguages, removeTemplateLanguage, saveTemplateLanguage } from './languages/operations.ts';
import {
  createTemplate,
  deleteTemplate,
  listDesignTemplates,
  listTemplates,
  readTemplate,
  undeleteTemplate,
  updateTemplate,
} from './operations.ts';

export const templateRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const templates = operationRoutes(app, deps, 'Templates');
  templates.list('GET /get-design/template', listDesignTemplates);
  templates.list('GET /templates/list', listTemplates);
  templates.record('GET /templates/details', readTemplate);
  templates.read('POST /templates/create', createTemplate);
  templates.change('POST /templates/update', updateTemplate, 'Updated Successfully');
  templates.read('GET /templates/languages', listTemplateLanguages);
  templates.read('POST /templates/languages', saveTemplateLanguage);
  templates.read('POST /templates/languages/remove', removeTemplateLanguage);
  templates.change('POST /templates/delete', deleteTemplate, 'Deleted Successfully');
  templates.change('POST /templates/undelete', undeleteTemplate, 'Restored Successfully');
};
