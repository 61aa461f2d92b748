/** The addresses of the pages for editing an automation. */

export const automationAddress = (utr: string) => `/automations/${encodeURIComponent(utr)}`;

export const editAddress = (utr: string) => `${automationAddress(utr)}/edit`;

export const mailAddress = (automation: string, mail: string, step = 'content') =>
  `${automationAddress(automation)}/mails/${encodeURIComponent(mail)}/${step}`;
