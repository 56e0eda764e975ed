import StrictJSON

/// The schemas that a document refers to, in the order in which they were met.
struct SchemaComponents {
    private var components: [JSONSchema.Component] = []

    /// The reference to a component, which will stand in the document.
    mutating func reference(to component: JSONSchema.Component) -> String {
        if let known = components.first(where: { $0.name == component.name }) {
            precondition(known.owner == component.owner, "two types describe themselves as the schema \(component.name)")
        } else {
            components.append(component)
        }
        return "#/components/schemas/\(component.name)"
    }

    /// Writes the object of all the components, those included that are first met while it is written.
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
