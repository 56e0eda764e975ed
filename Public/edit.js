// Editing. Pages are whole without this.
'use strict';
