import DocumentModel
import HearthAPI
import UTF8Text

/// A change of one field that is made to many documents.
struct FieldChange: Sendable {
    let field: FieldPath
    /// The new value; `nil` removes the field.
    let value: Value?

    /// Returns the write that changes a document, unless it has changed since it was read.
    func write(to document: SelectedDocument) throws(StatusError) -> Write {
        try Write.update(
            document.path,
            value.map { [(field, $0)] } ?? [],
            delete: value == nil ? [field] : [],
            precondition: .updateTime(document.updateTime)
        )
    }
}

/// The input for a ``FieldChange``, as submitted in a form.
struct FieldChangeInput: Sendable {
    var field = ""
    var removes = false
    var value = ValueInput("", as: .automatic)

    init() {}

    /// Decodes a submitted form.
    init(_ form: Form) {
        field = form.text("field")
        removes = form["action"] == "remove"
        let kind = form["t"].flatMap { ValueInput.Kind(rawValue: $0.string) } ?? .automatic
        value = ValueInput(form["v"]?.string ?? "", as: kind)
    }

    /// Parses the input; returns `nil` and adds the errors when it is invalid.
    ///
    /// - Parameter types: Returns the types of a field's values, for a value that is entered without a type.
    func change(
        addingTo problems: inout FormProblems,
        types: (FieldPath) async -> FieldTypes
    ) async -> FieldChange? {
        let path: FieldPath
        do throws(StatusError) {
            path = try FieldPathText.path(field)
            guard !path.isDocumentName else {
                throw StatusError(.invalidArgument, localized("The ID of a document can’t be changed."))
            }
        } catch {
            problems.add(field.utf8.isEmpty ? localized("Enter a field name.") : error.message, at: "field")
            return nil
        }
        guard !removes else { return FieldChange(field: path, value: nil) }
        do throws(StatusError) {
            guard value.kind == .automatic else { return FieldChange(field: path, value: try value.value()) }
            let types = await types(path)
            return FieldChange(field: path, value: AutomaticValue(value.text).reading(fitting: types.values).value)
        } catch {
            problems.add(error.message, at: "v")
            return nil
        }
    }
}
