import Mustache

/// A value that templates insert as HTML, with the member `markup`: `{{#name}}{{{markup}}}{{/name}}`.
protocol MarkupConvertible: MustacheParent, Sendable {
    /// The HTML of the value.
    var markup: Markup { get }
}

extension MarkupConvertible {
    func child(named name: String) -> Any? {
        name == "markup" ? markup : nil
    }
}
