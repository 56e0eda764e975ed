import DocumentModel
import HearthService
import StrictJSON

extension AdminPages {
    /// The keys, and the forms to make and to revoke one.
    func keys(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            try context.authorize(.admin)
            guard context.caller.identity != .anybody else {
                return .page(KeysPage([], own: nil, isOpen: true, now: surroundings.now()))
            }
            guard let submission else {
                let made = request.items["made"].flatMap { oneTimeTexts.take($0, for: formName) }
                return .page(try await keysPage(made: made))
            }
            if submission.isStale { return .page(try await keysPage(typed: typedKey(submission.form), problems: .stale)) }
            if let id = submission.form["revoke"] {
                try await RevokeKey.call(id, in: context)
                return .done(at: AdminURL.keys, .keyRevoked)
            }
            return try await createKey(submission.form)
        }
    }

    /// Whom what is kept between two forms is for.
    var formName: UTF8Key { visit.visitor.formName(browser: visit.browser) }

    private func keysPage(
        typed: KeysPage.Typed = KeysPage.Typed(),
        problems: FormProblems = FormProblems(),
        made: String? = nil
    ) async throws(StatusError) -> KeysPage {
        let keys = try await ListKeys.call((), in: context)
        return KeysPage(keys, own: context.caller.keyID, typed: typed, problems: problems, made: made, now: surroundings.now())
    }

    private func typedKey(_ form: Form) -> KeysPage.Typed {
        KeysPage.Typed(
            label: form.text("label"),
            role: form["role"].flatMap { Role(name: $0.string) } ?? .reader,
            collections: form["collections"]?.string ?? "",
            expiry: form["lifetime"].flatMap { KeyLifetime(rawValue: $0.string) } ?? .unlimited
        )
    }

    private func createKey(_ form: Form) async throws(StatusError) -> FormAnswer {
        let typed = typedKey(form)
        var problems = FormProblems()
        var collections: [CollectionPath] = []
        for text in TypedNumber.lines(of: typed.collections) {
            do throws(StatusError) {
                collections.append(try CollectionPath(text))
            } catch {
                problems.add(error.message, at: "collections")
            }
        }
        guard problems.isEmpty else { return .page(try await keysPage(typed: typed, problems: problems)) }
        do throws(StatusError) {
            let description = try AccessKey.Description(
                role: typed.role,
                label: typed.label,
                collections: collections.isEmpty ? nil : collections,
                expireTime: typed.expiry.end(from: surroundings.now()),
                now: surroundings.now()
            )
            let made = try await CreateKey.call(description, in: context)
            return .done(at: "\(AdminURL.keys)?made=\(oneTimeTexts.keep(made.text, for: formName))", nil)
        } catch {
            guard error.code == .invalidArgument else { throw error }
            problems.add(error.message, at: collections.isEmpty ? "label" : "collections")
            return .page(try await keysPage(typed: typed, problems: problems))
        }
    }
}
