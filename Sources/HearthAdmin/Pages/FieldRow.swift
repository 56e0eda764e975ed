/// A field of a document, of a map in it, or an element of an array in it, as a line.
struct FieldRow: Sendable {
    let depth: Int
    /// The maps and arrays around it, as a path, for those who don't see the indentation.
    let parent: DisplayText?
    let name: DisplayText
    let isElement: Bool
    /// The whole path of the field.
    let path: DisplayText
    let type: ValueType
    let value: ValueView
}

extension FieldRow: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "depth": depth
        case "parent": parent.orAbsent
        case "name": self.name
        case "isElement": isElement
        case "path": path.plain
        case "type": type.name
        case "value": value
        default: nil
        }
    }
}
