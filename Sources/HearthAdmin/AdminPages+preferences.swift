import StrictJSON

extension AdminPages {
    /// Keeps what a reader has chosen at the foot of a page, and leads back to that page.
    func keepPreferences(_ request: PageRequest) -> PageResponse? {
        guard let text = request.form.flatMap({ UTF8Key(validating: $0) }) else { return nil }
        let fields = Query(text.string)
        var response = PageResponse.seeOther(ReturnAddress(fields["next"]).url)
        for cookie in Preferences.cookies(for: fields) { response.addCookie(cookie) }
        return response
    }
}
