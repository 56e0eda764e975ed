import DocumentModel
import HTTPTypes

/// The errors of a submitted form, shown in an alert above the form, which receives the focus, and beside the fields.
struct FormProblems: Sendable {
    struct Problem: Sendable {
        /// The `id` of the invalid field; `nil` for an error concerning the whole form.
        let field: String?
        /// A page with related information.
        let url: String?
        /// The label of the invalid field, if the message doesn't name it.
        let label: DisplayText?
        let message: DisplayText
    }

    private(set) var list: [Problem] = []

    var isEmpty: Bool { list.isEmpty }

    /// The status of the page that shows the form.
    var status: HTTPResponse.Status { isEmpty ? .ok : .unprocessableContent }

    /// Adds an error concerning a field or the whole form.
    ///
    /// - Parameters:
    ///   - label: The label of the field, which the alert above the form names.
    ///   - url: A page with related information.
    mutating func add(_ message: String, at field: String? = nil, label: String? = nil, linkingTo url: String? = nil) {
        list.append(Problem(field: field, url: url, label: label.map { DisplayText($0) }, message: DisplayText(message)))
    }

    /// Returns the first error concerning a field.
    func message(for field: String) -> DisplayText? {
        list.first { $0.field?.utf8.elementsEqual(field.utf8) ?? false }?.message
    }

    /// The error of a form whose CSRF token does not match.
    static var stale: FormProblems {
        var problems = FormProblems()
        problems.add(staleText)
        return problems
    }

    static var staleText: String {
        localized(
            "This form was loaded before you signed in or before the server restarted. Your input is kept: review it and submit it again."
        )
    }
}

extension StatusError {
    /// The message with the field it refers to.
    var formMessage: String {
        field.map { "\($0): \(message)" } ?? message
    }
}
