/** What the API says about templates. */
import type { ApiClient } from '../../api-client.ts';

/** A template, built-in or own, without its code. */
export interface ListedTemplate {
  id: number;
  template_name: string;
  preview_image: string;
  is_blank: 0 | 1;
  updated_at: string | null;
}

/** An own template. */
export interface OwnTemplate {
  id: number;
  template_name: string;
  html_code: string;
  design_url: string;
  updated_at: string;
}

/** Built-in templates have lower ids than own ones. */
const FIRST_OWN = 1001;

/** Whether it is a template of the account itself. */
export function isOwn({ id }: Pick<ListedTemplate, 'id'>): boolean {
  return id >= FIRST_OWN;
}

/** All templates, the built-in ones first. */
export async function readTemplates(api: ApiClient): Promise<ListedTemplate[]> {
  return (await api.get<{ templates: ListedTemplate[] }>('/templates/list', { built_in: '1' })).templates;
}

/** An own template; throws an ApiFailure where the account has none with this id. */
export async function readTemplate(api: ApiClient, id: string): Promise<OwnTemplate> {
  return (await api.get<{ template: OwnTemplate }>('/templates/details', { id })).template;
}
