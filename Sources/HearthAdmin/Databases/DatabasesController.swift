import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for creating and deleting databases.
struct DatabasesController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the page of all databases with the form that creates one, and the page that deletes one.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.reader)
            if let name = request.query["delete"] {
                return try await delete(DatabaseID(formValue: name.string, in: context), submission)
            }
            guard let submission else { return .page(try await databasesPage()) }
            return try await create(submission)
        }
    }

    private func databasesPage(
        input: String = "",
        problems: FormProblems = FormProblems()
    ) async throws(StatusError) -> DatabasesPage {
        DatabasesPage(
            try await ListDatabases.call((), in: context),
            canManage: request.principal.isAdmin && context.databases != nil,
            input: input,
            problems: problems
        )
    }

    private func create(_ submission: FormSubmission) async throws(StatusError) -> FormResult {
        try context.authorize(CreateDatabase.requiredPermission)
        let input = submission.form.text("name")
        var problems = submission.isStale ? FormProblems.stale : FormProblems()
        if problems.isEmpty {
            var existingURL: String?
            do throws(StatusError) {
                let id = try DatabaseID(formValue: input, in: context)
                // A form that is submitted twice leads to the database that it has created.
                existingURL = AdminURL.overview(of: id == context.defaultDatabase ? nil : id)
                _ = try await CreateDatabase.call(id.description, in: context)
                return .redirect(to: AdminURL.overview(of: id), flash: .created)
            } catch {
                guard [.invalidArgument, .alreadyExists].contains(error.code) else { throw error }
                let url = error.code == .alreadyExists ? existingURL : nil
                problems.add(error.message, at: "name", label: localized("Name"), linkingTo: url)
            }
        }
        return .page(try await databasesPage(input: input, problems: problems))
    }

    /// Handles the page that asks for the name of the database, and its form.
    private func delete(_ id: DatabaseID, _ submission: FormSubmission?) async throws(StatusError) -> FormResult {
        try context.authorize(DeleteDatabase.requiredPermission)
        let input = submission?.form["name"]?.string ?? ""
        let isConfirmed = (try? DatabaseID(formValue: input, in: context)) == id
        if let submission, !submission.isStale, isConfirmed {
            do throws(StatusError) {
                try await DeleteDatabase.call(id.description, in: context)
            } catch  where error.code == .notFound {
                // The form was submitted twice.
            }
            return .redirect(to: AdminURL.databases, flash: .deleted(nil))
        }
        guard id != context.defaultDatabase, try await ListDatabases.call((), in: context).contains(id) else {
            return .page(ErrorPage.notFound)
        }
        var problems = submission?.isStale ?? false ? FormProblems.stale : FormProblems()
        if submission != nil, problems.isEmpty {
            problems.add(localized("Type the name of the database to confirm."), at: "name", label: localized("Name"))
        }
        return .page(DeleteDatabasePage(id, size: await size(of: id), input: input, problems: problems))
    }

    /// Returns the size of a database; `nil` for one that cannot be opened.
    private func size(of id: DatabaseID) async -> CollectionSize? {
        await request.resultIfPermitted { () async throws(StatusError) in
            try await GetCollectionSize.call(.init(), in: context.inDatabase(id))
        }
    }
}

extension DatabaseID {
    /// Parses a name from a form or URL: `project/database`, or the database ID alone in the project of the server.
    fileprivate init(formValue text: String, in context: ServiceContext) throws(StatusError) {
        let text = FormTextCoding.trimmed(text)
        try self.init(FormTextCoding.decodeLine(text) ?? text, inProject: context.defaultDatabase.project)
    }
}

extension AdminURL {
    /// The page that deletes a database.
    static func delete(_ database: DatabaseID) -> String {
        databases + query([("delete", UTF8Key(FormTextCoding.encodeLine(database.description)))])
    }
}
