import Mustache

/// The members of a view model by name, as Mustache looks them up.
///
/// A view model is reflected once when rendering starts, because reflection takes about a microsecond for each property, and
/// Mustache looks up the name of each tag in all enclosing view models.
final class TemplateContext: MustacheParent {
    /// Receives each lookup of a name in a view model.
    typealias Observer = @Sendable (_ context: TemplateContext, _ name: String) -> Void

    /// The type of the view model.
    let model: any ViewModel.Type
    private(set) var members: [String: Any] = [:]
    private let isRoot: Bool
    private let observer: Observer?

    /// Creates the context of a template's outermost view model.
    convenience init(_ model: any ViewModel, observer: Observer? = nil) {
        self.init(model, isRoot: true, observer: observer)
    }

    private init(_ model: any ViewModel, isRoot: Bool, observer: Observer?) {
        self.model = type(of: model)
        self.isRoot = isRoot
        self.observer = observer
        for case (let name?, let value) in Mirror(reflecting: model).children { members[name] = member(value) }
    }

    private func member(_ value: Any) -> Any {
        switch value {
        case is String, is Bool, is Int: value
        case let optional as any OptionalMember: optional.wrapped.map(member) ?? Absent()
        case let model as any ViewModel: TemplateContext(model, isRoot: false, observer: observer)
        case let models as [any ViewModel]: models.map { TemplateContext($0, isRoot: false, observer: observer) }
        default: value
        }
    }

    func child(named name: String) -> Any? {
        let member = members[name]
        observer?(self, name)
        // Mustache asks the outermost view model last, so an unknown name is an error in the template.
        assert(member != nil || !isRoot, "no view model has a member \"\(name)\"")
        return member
    }
}

/// A member whose value is `nil`: it renders as an empty string, and its section is omitted. Without it, Mustache would look up
/// the name in the enclosing view models.
private struct Absent: MustacheCustomRenderable {
    var renderText: String { "" }
    var isNull: Bool { true }
}

/// An optional whose wrapped type is unknown.
private protocol OptionalMember {
    var wrapped: Any? { get }
}

extension Optional: OptionalMember {
    fileprivate var wrapped: Any? { self }
}
