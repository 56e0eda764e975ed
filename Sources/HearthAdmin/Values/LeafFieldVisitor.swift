import DocumentModel
import UTF8Text

/// Visits all values of a document that are neither maps nor arrays, at any depth.
struct LeafFieldVisitor {
    private enum PathComponent {
        case name(UTF8Key)
        case index(Int)
    }

    private var components: [PathComponent] = []

    private init() {}

    /// Calls `body` with each value and a closure that returns its path, which is built only on demand.
    static func forEachValue(of document: Document, _ body: (Value, _ path: () -> String) -> Void) {
        var visitor = LeafFieldVisitor()
        for (key, value) in document.fields { visitor.visit(.name(key), value, body) }
    }

    private mutating func visit(_ component: PathComponent, _ value: Value, _ body: (Value, () -> String) -> Void) {
        switch value {
        case .map(let map):
            components.append(component)
            for (key, value) in map { visit(.name(key), value, body) }
            components.removeLast()
        case .array(let elements):
            components.append(component)
            for (index, value) in elements.enumerated() { visit(.index(index), value, body) }
            components.removeLast()
        default:
            body(value) { Self.path(of: components + [component]) }
        }
    }

    private static func path(of components: [PathComponent]) -> String {
        components.reduce("") { path, component in
            switch component {
            case .name(let key): ElementPath.appending(key, to: path.utf8.isEmpty ? nil : path)
            case .index(let index): ElementPath.appending(index, to: path)
            }
        }
    }
}
