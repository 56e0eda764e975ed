import DocumentModel
import UTF8Text

/// The location of a value inside a document: the names and indices that lead to it.
struct ElementLocation: Sendable {
    /// A step from a map or an array to one of its values.
    enum Component: Hashable, Sendable {
        case name(UTF8Key)
        case index(Int)
    }

    let components: [Component]

    /// Finds the value with a path in the notation of ``ElementPath`` or ``FieldPathText``; `nil` if there is none.
    init?(_ path: String, in fields: MapValue) {
        let fieldPath = try? FieldPathText.path(path).description
        guard
            let components = Self.search(path.utf8, in: .map(fields), at: nil)
                ?? fieldPath.flatMap({ Self.search($0.utf8, in: .map(fields), at: nil) })
        else { return nil }
        self.components = components
    }

    /// Returns the steps from a value to the one with a path.
    private static func search(_ path: String.UTF8View, in value: Value, at parent: String?) -> [Component]? {
        let members: [(component: Component, path: String, value: Value)] =
            switch (value, parent) {
            case (.map(let map), _): map.map { (.name($0.key), ElementPath.appending($0.key, to: parent), $0.value) }
            case (.array(let elements), let parent?):
                elements.enumerated().map { (.index($0), ElementPath.appending($0, to: parent), $1) }
            default: []
            }
        for member in members where path.starts(with: member.path.utf8) {
            if path.count == member.path.utf8.count { return [member.component] }
            if let rest = search(path, in: member.value, at: member.path) { return [member.component] + rest }
        }
        return nil
    }

    /// Returns the value at the location.
    func value(in fields: MapValue) -> Value? {
        components.reduce(Value.map(fields)) { value, component in
            switch (value, component) {
            case (.map(let map)?, .name(let key)): map[key]
            case (.array(let elements)?, .index(let index)) where elements.indices.contains(index): elements[index]
            default: nil
            }
        }
    }

    /// Returns the fields with another value at the location, which exists.
    func replacing(_ value: Value, in fields: MapValue) -> MapValue {
        guard case .map(let map) = Self.replacing(value, in: .map(fields), at: components[...]) else { return fields }
        return map
    }

    private static func replacing(_ new: Value, in value: Value, at components: ArraySlice<Component>) -> Value {
        guard let component = components.first else { return new }
        switch (value, component) {
        case (.map(var map), .name(let key)):
            map[key] = map[key].map { replacing(new, in: $0, at: components.dropFirst()) }
            return .map(map)
        case (.array(var elements), .index(let index)) where elements.indices.contains(index):
            elements[index] = replacing(new, in: elements[index], at: components.dropFirst())
            return .array(elements)
        default: return value
        }
    }
}
