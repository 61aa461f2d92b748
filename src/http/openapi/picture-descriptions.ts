/** Descriptions of the fields in answers about the picture library. */

/** By name, or by `Schema.name`, as in descriptions.ts. */
export const PICTURE_DESCRIPTIONS = {
  alt: 'What is read in place of the picture; may be empty.',
  automation_mails: 'Number of mails of automations that contain it.',
  'Picture.blocks': 'Number of your saved blocks that contain it.',
  'Picture.brands': '1: it is the logo of your brand.',
  campaign: 'What it belongs to; null when that is deleted.',
  height: 'Height in pixels.',
  is_new: '1: it was stored; 0: the account has the same bytes already, and this is that picture.',
  'Picture.kind': 'What the bytes are.',
  'PictureUse.kind':
    'single_send, automation_mail, template or block: the content as it is now; brand: the logo; sent_mail: a mailing that was sent, with the content it had.',
  'PictureUse.name':
    'Name of the single send, automation, template or block; null when it is deleted, and for the brand.',
  picture: 'The picture.',
  pictures: 'The pictures.',
  sent_mails: 'Number of mailings that were sent with it. While there is one, it cannot be deleted.',
  'PictureUse.sent_at': 'When the mailing began, UTC; null for content that is not sent.',
  single_sends: 'Number of single sends that contain it.',
  size: 'Bytes.',
  'Picture.templates': 'Number of your own templates that contain it.',
  'Picture.url': 'Address for mails. It works without keys and never changes.',
  uses: 'What contains the picture.',
  'PictureUse.utr': 'UUID of the single send or automation; null when it is deleted.',
  width: 'Width in pixels.',
};
