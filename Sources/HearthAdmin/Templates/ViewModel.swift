import Mustache

/// The data of a template, looked up by name.
///
/// A view model must not return nil for a name that it defines, even if the value is absent, because Mustache would then look up
/// the name in the enclosing view models. Return `orAbsent` instead.
protocol ViewModel: MustacheParent, Sendable {}

/// A defined but absent value: it renders as an empty string, and its section is omitted.
struct Absent: MustacheCustomRenderable, Sendable {
    var renderText: String { "" }
    var isNull: Bool { true }
}

extension Optional where Wrapped: Sendable {
    /// The value, or ``Absent``.
    var orAbsent: Any {
        switch self {
        case .some(let value): value
        case .none: Absent()
        }
    }
}
