extension DisplayText {
    /// Writes the text in an element that isolates its writing direction.
    func write(to markup: inout Markup, opening: StaticString = #"<bdi lang="">"#) {
        markup.raw(opening)
        writeRuns(to: &markup)
        markup.raw("</bdi>")
    }

    /// Writes the runs of the text, with labels for invisible characters, inside an open element.
    func writeRuns(to markup: inout Markup) {
        for run in runs {
            if let mark = run.mark {
                markup.raw(#"<span class="mark" title=""#)
                markup.text(mark.name)
                markup.raw(#"">"#)
                markup.text(mark.label)
                markup.raw("</span>")
            }
            markup.text(run.text)
        }
    }
}

extension DisplayText: MarkupConvertible {
    var markup: Markup { Markup(writeRuns) }
}
