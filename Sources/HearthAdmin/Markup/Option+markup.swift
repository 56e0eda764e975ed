extension [Option] {
    /// The choices of a list.
    var listMarkup: Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<option value=""#)
                markup.text(option.value)
                markup.raw(option.isCurrent ? #"" selected>"# : #"">"#)
                markup.text(option.text)
                markup.raw("</option>")
            }
        }
    }

    /// Boxes to tick, each with a label.
    func boxesMarkup(named name: StaticString) -> Markup {
        Markup { markup in
            markup.lines(self) { option, markup in
                markup.raw(#"<label><input type="checkbox" name=""#)
                markup.raw(name)
                markup.raw(#"" value=""#)
                markup.text(option.value)
                markup.raw(option.isCurrent ? #"" checked> <bdi>"# : #""> <bdi>"#)
                markup.text(option.text)
                markup.raw("</bdi></label>")
            }
        }
    }

    /// Buttons of a form as items of a list.
    ///
    /// - Parameter areLanguages: Whether each is named in the language that its value is.
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
                if option.isCurrent { markup.current("true") }
                markup.raw(">")
                markup.text(option.text)
                markup.raw("</button></li>")
            }
        }
    }
}
