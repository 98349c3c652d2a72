"""A local page to steer an anonymization by: `kanon page`.

One process serves it to whoever has its address, on 127.0.0.1 alone (`server`, `guard`). The spec in progress is one
`Draft` (`draft`), kept with all else that the windows share by `Page` (`state`). A **screen** is a module with `PAGES`
for GET, among them `show`, which renders its template, and `CHANGES` for POST. A **change** makes another draft by
`Page.change`, then answers 303 with the screen to show (`web.shown`); what it refuses it answers with the same screen
and the problem. A **region** is an element with an id and `data-live`: the script (`static/page.js`) sends forms marked
`data-send` as they change, reads the screen that comes back, and exchanges the regions that differ, so that every
screen works without the script too. **Events** (`web.events`) tell all windows that something changed, whereupon they
read their screen again, or bring a region of a running search with them.

Long work runs in a process of its own (`work`, `worker`), which can be stopped, and ends when the page does. Moving a
slider asks no source: the frequency set is in memory (`counted`).
"""

from kanon_sql.page.server import serve

__all__ = ["serve"]
