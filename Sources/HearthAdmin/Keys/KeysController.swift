import DocumentModel
import HearthAPI
import UTF8Text

/// The controller for API keys.
struct KeysController {
    let request: AdminRequest
    let secrets: OneTimeSecrets

    private var context: ServiceContext { request.context }

    /// Handles the page of API keys and the forms that create and revoke them.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorize(.admin)
            guard context.caller.identity != .openAccess else {
                return .page(KeysPage([], currentKeyID: nil, isUnprotected: true, now: request.now))
            }
            guard let submission else {
                let secret = request.query["made"].flatMap { secrets.redeem($0, for: request.formOwner) }
                return .page(try await keysPage(newSecret: secret))
            }
            if let id = submission.form["revoke"] { return try await revokeKey(id, submission) }
            if submission.isStale { return .page(try await keysPage(input: keyInput(submission.form), problems: .stale)) }
            return try await createKey(submission.form)
        }
    }

    private func keysPage(
        input: KeysPage.Input = KeysPage.Input(),
        problems: FormProblems = FormProblems(),
        newSecret: String? = nil
    ) async throws(StatusError) -> KeysPage {
        let keys = try await ListKeys.call((), in: context)
        return KeysPage(
            keys,
            currentKeyID: context.caller.keyID,
            input: input,
            problems: problems,
            newSecret: newSecret,
            now: request.now
        )
    }

    /// Revokes a key after confirmation.
    private func revokeKey(_ id: UTF8Key, _ submission: FormSubmission) async throws(StatusError) -> FormResult {
        let keys = try await ListKeys.call((), in: context)
        guard let key = keys.first(where: { $0.id == id }) else {
            return .page(try await keysPage(problems: .missingKey))
        }
        let admins = keys.filter { $0.role == .admin && !$0.isExpired(at: request.now) }
        let isLastAdmin = admins.count == 1 && admins[0].id == id
        guard submission.form.has("confirmed"), !submission.isStale, !isLastAdmin else {
            return .page(
                RevokeKeyPage(
                    key,
                    isCurrent: id == context.caller.keyID,
                    isLastAdmin: isLastAdmin,
                    problems: submission.isStale ? .stale : FormProblems(),
                    now: request.now
                )
            )
        }
        try await RevokeKey.call(id, in: context)
        return .redirect(to: AdminURL.keys, flash: .keyRevoked)
    }

    private func keyInput(_ form: Form) -> KeysPage.Input {
        KeysPage.Input(
            label: form.text("label"),
            role: form["role"].flatMap { Role(name: $0.string) } ?? .reader,
            collections: form["collections"]?.string ?? "",
            lifetime: form["lifetime"].flatMap { KeyLifetime(rawValue: $0.string) } ?? .unlimited
        )
    }

    private func createKey(_ form: Form) async throws(StatusError) -> FormResult {
        let input = keyInput(form)
        var problems = FormProblems()
        var collections: [CollectionPath] = []
        for text in FormTextCoding.lines(of: input.collections) {
            do throws(StatusError) {
                collections.append(try CollectionPath(text))
            } catch {
                problems.add(error.message, at: "collections", label: localized("Restrict to collections"))
            }
        }
        guard problems.isEmpty else { return .page(try await keysPage(input: input, problems: problems)) }
        do throws(StatusError) {
            let description = try APIKey.Attributes(
                role: input.role,
                label: input.label,
                collections: collections.isEmpty ? nil : collections,
                expireTime: input.lifetime.expireTime(from: request.now),
                now: request.now
            )
            let created = try await CreateKey.call(description, in: context)
            return .redirect(to: "\(AdminURL.keys)?made=\(secrets.store(created.text, for: request.formOwner))")
        } catch {
            guard error.code == .invalidArgument else { throw error }
            if collections.isEmpty {
                problems.add(error.message, at: "label", label: localized("Label"))
            } else {
                problems.add(error.message, at: "collections", label: localized("Restrict to collections"))
            }
            return .page(try await keysPage(input: input, problems: problems))
        }
    }
}

extension FormProblems {
    fileprivate static var missingKey: FormProblems {
        var problems = FormProblems()
        problems.add(localized("This key doesn’t exist any more."))
        return problems
    }
}
