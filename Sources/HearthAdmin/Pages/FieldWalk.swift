import DocumentModel
import StrictJSON

/// All values of a document that are neither maps nor arrays, wherever they are in it.
struct FieldWalk {
    private enum Step {
        case name(UTF8Key)
        case index(Int)
    }

    private var steps: [Step] = []

    private init() {}

    /// Calls `body` with each value, and with what gives the name of its place, for which most have no use.
    static func forEachValue(of document: Document, _ body: (Value, _ name: () -> String) -> Void) {
        var walk = FieldWalk()
        for (key, value) in document.fields { walk.enter(.name(key), value, body) }
    }

    private mutating func enter(_ step: Step, _ value: Value, _ body: (Value, () -> String) -> Void) {
        switch value {
        case .map(let map):
            steps.append(step)
            for (key, value) in map { enter(.name(key), value, body) }
            steps.removeLast()
        case .array(let elements):
            steps.append(step)
            for (index, value) in elements.enumerated() { enter(.index(index), value, body) }
            steps.removeLast()
        default:
            body(value) { Self.name(of: steps + [step]) }
        }
    }

    private static func name(of steps: [Step]) -> String {
        steps.reduce("") { name, step in
            switch step {
            case .name(let key): FieldName.text(of: key, in: name.utf8.isEmpty ? nil : name)
            case .index(let index): FieldName.text(of: index, in: name)
            }
        }
    }
}
