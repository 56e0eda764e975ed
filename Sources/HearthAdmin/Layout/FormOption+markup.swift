extension [FormOption] {
    /// The options of a select element.
    var optionsMarkup: Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<option value=""#)
                markup.text(option.value)
                markup.raw(option.isSelected ? #"" selected>"# : #"">"#)
                markup.text(option.text)
                markup.raw("</option>")
            }
        }
    }

    /// Returns labeled checkboxes.
    func checkboxesMarkup(named name: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<label><input type="checkbox" name=""#)
                markup.raw(name)
                markup.raw(#"" value=""#)
                markup.text(option.value)
                markup.raw(option.isSelected ? #"" checked> <bdi>"# : #""> <bdi>"#)
                markup.text(option.text)
                markup.raw("</bdi></label>")
            }
        }
    }

    /// Returns buttons of a form as list items.
    ///
    /// - Parameter areLanguages: Whether each value is the language tag of its text.
    func buttonsMarkup(named name: StaticString, areLanguages: Bool = false) -> Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<li><button name=""#)
                markup.raw(name)
                markup.raw(#"" value=""#)
                markup.text(option.value)
                if areLanguages {
                    markup.raw(#"" lang=""#)
                    markup.text(option.value)
                    markup.raw(#"" dir="auto"#)
                }
                markup.raw(#"""#)
                if option.isSelected { markup.ariaCurrent("true") }
                markup.raw(">")
                markup.text(option.text)
                markup.raw("</button></li>")
            }
        }
    }
}
