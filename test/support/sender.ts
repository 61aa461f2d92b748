/** Bodies of requests that make a sender. */

export const SHOP_SENDER = {
  from_name: 'Lark Books',
  from_email: 'hello@example.com',
  reply_to_email: 'hello@example.com',
  country_id: 1,
  company_address: '1 Harbour St',
  nickname: 'Shop',
};

export const SENDER = {
  from_name: 'Lark',
  from_email: 'lark@example.com',
  reply_to_email: 'lark@example.com',
  country_id: 1,
  company_address: '1 Harbour St',
  nickname: 'l',
};
