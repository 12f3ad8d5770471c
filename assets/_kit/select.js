/*
 * A menu of which one entry is always chosen: a button and its list, with the looks and keys of the pages'
 * menus, also in dialogs and in exported pages.
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas;
  const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  let count = 0;

  /**
   * Make the menu.
   *   name: for screen readers; options: [value, words] of each entry; properties: of its button.
   * The button's `value` can be read and written; its event `change` follows a choice of another entry.
   */
  wattlas.select = function (name, options, value, properties = {}) {
    const id = "select-" + (count += 1);
    const entries = options.map(([key, textContent], i) => element("div", {
      id: `${id}-${i}`, textContent, data: { value: key }, attributes: { role: "option" },
    }));
    const list = element("div", {
      id, className: "select-list", popover: "auto", attributes: { role: "listbox", "aria-label": "entries" },
    }, ...entries);
    const words = element("span", {});
    const button = element("button", { type: "button", className: "select", ...properties, attributes: {
      role: "combobox", "aria-label": name, "aria-haspopup": "listbox", "aria-expanded": "false",
      "aria-controls": id } }, words);
    let chosen = 0, at = 0;

    function show(i) {
      chosen = i;
      words.textContent = entries[i].textContent;
      entries.forEach((one, k) => one.setAttribute("aria-selected", String(k === i)));
    }
    function point(i) {
      at = Math.min(Math.max(i, 0), entries.length - 1);
      entries.forEach((one, k) => one.classList.toggle("pointed", k === at));
      button.setAttribute("aria-activedescendant", entries[at].id);
      entries[at].scrollIntoView({ block: "nearest" });
    }
    function take(i) {
      list.hidePopover();
      if (i === chosen) return;
      show(i);
      button.dispatchEvent(new Event("change", { bubbles: true }));
    }
    const indexOf = (key) => options.findIndex(([known]) => String(known) === String(key));
    const get = () => String(options[chosen][0]), set = (key) => show(Math.max(indexOf(key), 0));
    Object.defineProperty(button, "value", { get, set });
    button.value = value;

    button.popoverTargetElement = list;
    list.addEventListener("toggle", ({ newState }) => {
      button.setAttribute("aria-expanded", String(newState === "open"));
      if (newState !== "open") { button.removeAttribute("aria-activedescendant"); return; }
      const box = button.getBoundingClientRect(), { offsetHeight } = list;
      const below = box.bottom + offsetHeight < innerHeight ? box.bottom : box.top - offsetHeight;
      list.style.minWidth = box.width + "px";
      const left = Math.max(4, Math.min(box.left, innerWidth - list.offsetWidth - 4));
      list.style.setProperty("--left", left + "px");
      list.style.setProperty("--top", Math.max(4, below) + "px");
      point(chosen);
    });
    // The focus stays on the button.
    list.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => {
      // The list may be in the label of its button.
      event.preventDefault();
      const i = entries.indexOf(event.target);
      if (i >= 0) take(i);
    });
    button.addEventListener("keydown", (event) => {
      const { key } = event, isOpen = list.matches(":popover-open"), step = STEPS[key];
      const isChoice = isOpen && (key === "Enter" || key === " ");
      const letter = isOpen && key.length === 1 && key !== " " ? key.toLowerCase() : "";
      if (!step && !letter && !isChoice && !(isOpen && (key === "Escape" || key === "Tab"))) return;
      if (key !== "Tab") event.preventDefault();
      event.stopPropagation();
      if (isChoice) take(at);
      else if (key === "Escape" || key === "Tab") list.hidePopover();
      else if (!isOpen) list.showPopover();
      else if (step) point(at + step);
      else {
        const next = [...entries.keys()].map((k) => (at + 1 + k) % entries.length)
          .find((k) => entries[k].textContent.toLowerCase().startsWith(letter));
        if (next !== undefined) point(next);
      }
    });
    return element("span", { className: "select-box" }, button, list);
  };
})((window.wattlas = window.wattlas || {}));
