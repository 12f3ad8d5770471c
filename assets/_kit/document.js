/* Elements of the document: make one, find the one that an event is in. */
(function (wattlas) {
  "use strict";

  /**
   * Make an element.
   *   properties: the element's own; `data` for its data-*, `attributes` for others such as aria-*.
   *   children: elements and texts; null and undefined are left out.
   */
  wattlas.element = function (tag, { data = {}, attributes = {}, ...properties } = {}, ...children) {
    const found = Object.assign(document.createElement(tag), properties);
    Object.assign(found.dataset, data);
    for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
    found.append(...children.filter((child) => child !== null && child !== undefined));
    return found;
  };

  /** An element of SVG with its attributes. */
  wattlas.svg = function (tag, attributes, ...children) {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    part.append(...children);
    return part;
  };

  /** The nearest element around an event's target that a selector matches; null for none. */
  wattlas.closest = ({ target }, selector) => (target.closest ? target.closest(selector) : null);
})((window.wattlas = window.wattlas || {}));
