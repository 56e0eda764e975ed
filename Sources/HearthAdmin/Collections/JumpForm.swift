import UTF8Text

/// The position of a page in a collection.
struct PagePosition: Sendable {
    /// The position of the first document, counted from 1; `nil` if it is unknown.
    var first: Int?
    /// The reason why the requested position cannot be shown.
    var problem: String?
}

/// The form that goes to a position or an ID.
struct JumpForm: ViewModel {
    private let action: String
    private let hiddenFields: [HiddenField]
    /// True if the documents are in ID order.
    private let canJumpToID: Bool
    private let jumpProblem: String?

    init(_ request: CollectionRequest, problem: String?) {
        action = AdminURL.collection(request.path)
        var rest = request
        rest.cursor = nil
        hiddenFields = FilterFormView.hiddenFields(of: rest)
        canJumpToID = !request.isQuery
        jumpProblem = problem
    }
}
