import DocumentModel
import HTTPTypes

/// The databases of the server, with the form that creates one.
struct DatabasesPage: Page {
    static let template = TemplateLibrary.Name.databases

    /// A row of the list.
    struct Row: ViewModel {
        let link: LinkView
        /// The name without marks of invisible characters, for the label of the link that deletes the database.
        let name: String
        let isDefault: Bool
        /// The page that asks before the database is deleted; `nil` if the user may not delete it.
        let deleteURL: String?
    }

    var layout = PageLayout(title: localized("Databases"))
    let status: HTTPResponse.Status
    private let databases: [Row]
    private let canManage: Bool
    private let action = AdminURL.databases
    private let databaseName: FormField
    private let problemAlert: ProblemAlert?

    /// - Parameters:
    ///   - databases: All databases, the default one first.
    ///   - canManage: True if the user may create and delete databases.
    ///   - input: The typed name of a new database.
    init(_ databases: [DatabaseID], canManage: Bool, input: String = "", problems: FormProblems = FormProblems()) {
        self.databases = databases.enumerated().map { index, id in
            let isDefault = index == 0
            let text = DisplayText(id.description)
            return Row(
                link: LinkView(url: AdminURL.overview(of: isDefault ? nil : id), text: text),
                name: text.plain,
                isDefault: isDefault,
                deleteURL: isDefault || !canManage ? nil : AdminURL.delete(id)
            )
        }
        self.canManage = canManage
        databaseName = FormField("name", input, problems: problems)
        problemAlert = ProblemAlert(problems)
        status = problems.status
    }
}
