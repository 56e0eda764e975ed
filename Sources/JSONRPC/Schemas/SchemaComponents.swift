import StrictJSON

/// The schemas that a document references, in order of first reference.
struct SchemaComponents {
    private var components: [JSONSchema.Component] = []

    /// Returns a reference to a component, and registers the component.
    mutating func reference(to component: JSONSchema.Component) -> String {
        if let known = components.first(where: { $0.name == component.name }) {
            precondition(known.owner == component.owner, "two types use the schema name \(component.name)")
        } else {
            components.append(component)
        }
        return "#/components/schemas/\(component.name)"
    }

    /// Writes the object of all components, including those first referenced while it is written.
    mutating func write(to writer: inout JSONWriter) {
        writer.beginObject()
        var written = 0
        while written < components.count {
            let component = components[written]
            writer.key(component.name)
            component.definition().write(to: &writer, components: &self)
            written += 1
        }
        writer.endObject()
    }
}
