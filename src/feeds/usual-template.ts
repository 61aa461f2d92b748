/** The template of feeds that have none of their own: a list of the items with their summaries. */

export const USUAL_TEMPLATE = `<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>((feed_title))</title></head>
<body style="margin:0;padding:0;background-color:#f4f5f7">
<div style="max-width:600px;margin:0 auto;padding:24px;background-color:#ffffff;color:#1b2129;font:16px/1.5 Arial,Helvetica,sans-serif">
<p style="margin:0 0 16px;color:#55606c">((feed_title))</p>
((items))
<h2 style="margin:0 0 4px;font-size:20px;line-height:1.3"><a href="((item_link))" style="color:#0b5cad">((item_title))</a></h2>
<p style="margin:0 0 4px;color:#55606c;font-size:14px">((item_date)) ((item_author))</p>
<p style="margin:0 0 24px">((item_summary))</p>
((items_end))
</div>
</body>
</html>
`;
