import Mustache

/// What a template may see, by name.
///
/// A name that a view model knows must never give nil, even for a value that isn't there: Mustache would go on
/// looking for the name in the view models around it. Give `orAbsent` instead.
protocol ViewModel: MustacheParent, Sendable {}

/// A known member without a value: it shows as nothing, and its section is left out.
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
