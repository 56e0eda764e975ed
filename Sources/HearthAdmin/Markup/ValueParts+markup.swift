extension FoldedText {
    func write(to markup: inout Markup) {
        markup.raw(#"<details class="fold"><summary><span class="beginning">"#)
        beginning.write(to: &markup)
        markup.raw("</span> ")
        markup.note(length)
        markup.raw(#"</summary><div class="string" dir="auto" lang="">"#)
        whole.writeRuns(to: &markup)
        markup.raw("</div></details>")
    }
}

extension BytesView {
    func write(to markup: inout Markup) {
        markup.raw(#"<code class="hex">"#)
        markup.text(hexadecimal)
        if isCut { markup.raw(" …") }
        markup.raw("</code> ")
        markup.note(length)
    }
}

extension PlaceView {
    func write(to markup: inout Markup) {
        markup.number(decimal)
        guard let degrees else { return }
        markup.raw(#" <span class="note" dir="ltr">"#)
        markup.text(degrees)
        markup.raw(#"</span> <button type="button" class="copy" data-copy=""#)
        markup.text(exact)
        markup.raw(#"" aria-label=""#)
        markup.text(localized("Copy coordinates"))
        markup.raw(#"" hidden>"#)
        markup.text(localized("Copy"))
        markup.raw("</button>")
    }
}

extension PlaceView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "markup": Markup(write)
        default: nil
        }
    }
}

extension VectorView {
    func write(to markup: inout Markup) {
        markup.raw(#"<span class="number">["#)
        markup.text(beginning)
        markup.raw(isCut ? ", …]</span> " : "]</span> ")
        markup.note(dimensions)
    }
}

extension GroupView {
    func write(to markup: inout Markup) {
        markup.raw(isMap ? #"<span class="group map">"# : #"<span class="group array">"#)
        for member in members {
            markup.raw(#"<span class="member">"#)
            if let key = member.key {
                key.write(to: &markup, opening: #"<span class="key"><bdi lang="">"#)
                markup.raw("</span> ")
            }
            member.value.write(to: &markup)
            markup.raw("</span> ")
        }
        if more > 0 { markup.note(localized("{more} more", ["more": Counting.grouped(more)])) }
        if members.isEmpty, more == 0 { markup.note(localized("empty")) }
        markup.raw("</span>")
    }
}
