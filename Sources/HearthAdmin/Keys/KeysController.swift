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
            if submission.isStale { return .page(try await keysPage(input: keyInput(submission.form), problems: .stale)) }
            if let id = submission.form["revoke"] {
                try await RevokeKey.call(id, in: context)
                return .redirect(to: AdminURL.keys, flash: .keyRevoked)
            }
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
                problems.add(error.message, at: "collections")
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
            problems.add(error.message, at: collections.isEmpty ? "label" : "collections")
            return .page(try await keysPage(input: input, problems: problems))
        }
    }
}
