import DocumentModel
import DocumentStore
import HTTPTypes

/// The page that asks for the name of a database before the database is deleted.
struct DeleteDatabasePage: Page {
    static let template = TemplateLibrary.Name.deleteDatabase

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let name: DisplayText
    /// The number of documents in words; `nil` if it is unknown.
    private let countText: String?
    private let action: String
    private let confirmation: FormField
    private let returnURL = AdminURL.databases
    private let problemAlert: ProblemAlert?

    /// - Parameters:
    ///   - size: The size of the database; `nil` if it is unknown.
    ///   - input: The typed name.
    init(_ id: DatabaseID, size: CollectionSize?, input: String = "", problems: FormProblems = FormProblems()) {
        name = DisplayText(id.description)
        layout = PageLayout(title: "\(localized("Delete")) · \(name.plain)")
        countText = size.map { localized(count: $0.documentCount, one: "{count} document", other: "{count} documents") }
        action = AdminURL.delete(id)
        confirmation = FormField("name", input, problems: problems)
        problemAlert = ProblemAlert(problems)
        status = problems.status
    }
}
