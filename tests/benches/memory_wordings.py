"""What users and agents say in the generated conversations, as it is said in eight languages.

`{name}` is a term that nothing else in the conversation has, `{other}` another one, `{area}` a part
of a product, and `{thing}` what a correction speaks of.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wordings:
    """The sentences of one language; each line stands for the same kind in every language."""

    areas: tuple[str, ...]
    things: tuple[str, ...]
    requests: tuple[str, ...]
    constraints: tuple[str, ...]
    decisions: tuple[str, ...]
    choices: tuple[str, ...]
    """What is said first, and taken back by a correction; with `{old}`."""
    corrections: tuple[str, ...]
    """With `{new}`."""
    values: tuple[str, ...]
    """With `{number}`."""
    conclusions: tuple[str, ...]
    measures: tuple[str, ...]
    fillers: tuple[str, ...]
    talk: tuple[str, ...]
    welcome: str
    done: str
    steps: tuple[str, str, str]
    """A step of the plan that is done, one that is at work, and one that is open."""
    reasons: tuple[str, ...]
    """What an agent adds to a short note, so that it has a natural length."""
    between: str = " "
    """What stands between sentences."""


ENGLISH = Wordings(
    areas=(
        "invoice parser", "login page", "export job", "search index", "billing worker", "map view",
        "mail digest", "image cache", "import wizard", "audit trail", "rate limiter", "chat widget",
        "tax report", "device sync", "feature flags", "session store", "upload queue",
    ),
    things=(
        "ledger", "tenant", "cursor", "voucher", "schema", "header", "bucket", "thumbnail",
        "webhook", "locale", "checksum", "payload", "tokenizer", "retention", "pagination", "quota",
        "signature", "archive", "throttle", "footer", "backoff", "manifest", "palette",
    ),
    requests=(
        "Please add a {name} step to the {area}.",
        "Implement the {name} for the {area} and cover it with tests.",
        "The {area} needs a {name}, build it.",
    ),
    constraints=(
        "Never touch the {name} while you do that.",
        "Make sure that the {name} stays readable by old clients.",
        "The {name} must not grow beyond two pages.",
        "Do not add dependencies for the {name}.",
    ),
    decisions=(
        "We go with {name} for this, the team has agreed.",
        "Let's take {name} and leave {other} for later.",
        "I decided that {name} is the way to do it.",
    ),
    choices=("Use {old} as the {thing} separator.", "Set the {thing} separator to {old}."),
    corrections=(
        "No, use {new} as the {thing} separator.",
        "Actually the {thing} separator should be {new} instead.",
    ),
    values=(
        "For your information: the {name} of our biggest customer has {number} rows.",
        "The {name} runs on port {number} in staging.",
    ),
    conclusions=(
        "The root cause is the {name}: it is read before it is written.",
        "I found that the {name} is never released.",
        "It turns out that the {name} is computed twice.",
    ),
    measures=(
        "The query now takes {number} on the large set.",
        "Measured: {number} per call with a warm cache.",
    ),
    fillers=(
        "Let me look at the code first.", "I will start with the reader.",
        "This is a small change.", "The code follows the style of the module.",
        "Everything is in place as described.", "I looked through the files of this folder.",
        "The names follow what is there already.",
    ),
    talk=("thanks!", "great", "ok, go on", "yes", "continue", "nice, thank you", "go ahead"),
    welcome="You're welcome.",
    done="Done.",
    steps=("Write the {name}", "Wire up the {name}", "Document the {name}"),
    reasons=(
        "The customer asked for it in the last call.",
        "Two of the older reports depend on it, so check them as well.",
        "It was tried once before and had to be taken back after a week.",
    ),
)  # fmt: skip

GERMAN = Wordings(
    areas=(
        "Rechnungsimport", "Suchindex", "Exportlauf", "Versandplaner", "Bildspeicher",
        "Kartendienst", "Steuerbericht", "Mailverteiler",
    ),
    things=(
        "Spalten", "Zeilen", "Absatz", "Datums", "Feld", "Seiten", "Gruppen", "Pfad", "Namens",
        "Adress", "Wert", "Listen", "Schlüssel", "Block", "Kopf", "Fuß", "Titel", "Summen",
    ),
    requests=(
        "Bau bitte {name} in den {area} ein.",
        "Der {area} braucht noch {name}, setz das bitte um und schreib Tests dazu.",
        "Ergänze {name} im {area}.",
    ),
    constraints=(
        "Lass {name} dabei auf jeden Fall in Ruhe.",
        "{name} muss für alte Clients lesbar bleiben.",
        "Für {name} kommen keine neuen Abhängigkeiten dazu.",
    ),
    decisions=(
        "Wir nehmen dafür {name}, das ist im Team so abgesprochen.",
        "Dann machen wir {name} und heben uns {other} für später auf.",
        "Ich habe mich für {name} entschieden.",
    ),
    choices=(
        "Nimm {old} als {thing}-Trenner.",
        "Der {thing}-Trenner soll {old} sein.",
    ),
    corrections=(
        "Nein, nimm doch {new} als {thing}-Trenner.",
        "Der {thing}-Trenner soll jetzt doch {new} sein.",
    ),
    values=(
        "Nur zur Info: {name} hat bei unserem größten Kunden {number} Zeilen.",
        "{name} läuft auf Staging auf Port {number}.",
    ),
    conclusions=(
        "Die Ursache ist {name}: es wird gelesen, bevor es geschrieben ist.",
        "{name} wird nirgends wieder freigegeben.",
        "Wie sich zeigt, wird {name} doppelt berechnet.",
    ),
    measures=(
        "Die Abfrage braucht auf dem großen Bestand jetzt {number}.",
        "Gemessen: {number} je Aufruf bei warmem Cache.",
    ),
    fillers=(
        "Ich sehe mir zuerst den Code an.", "Ich fange mit dem Lesen an.",
        "Das ist eine kleine Änderung.", "Der Code folgt dem Stil des Moduls.",
        "Alles liegt so vor wie beschrieben.", "Ich bin die Dateien im Ordner durchgegangen.",
    ),
    talk=("danke!", "super", "ok, mach weiter", "ja", "weiter", "prima, danke dir", "passt"),
    welcome="Gern geschehen.",
    done="Erledigt.",
    steps=("{name} schreiben", "{name} anbinden", "{name} dokumentieren"),
    reasons=(
        "Der Kunde hat im letzten Gespräch darum gebeten.",
        "Zwei ältere Berichte hängen daran, also die bitte mit prüfen.",
        "Das wurde schon einmal versucht und nach einer Woche zurückgenommen.",
    ),
)  # fmt: skip

SPANISH = Wordings(
    areas=(
        "importador de facturas", "índice de búsqueda", "proceso de exportación",
        "gestor de envíos", "visor de mapas", "informe fiscal", "boletín semanal",
    ),
    things=(
        "columnas", "filas", "párrafos", "fechas", "campos", "páginas", "grupos", "rutas",
        "nombres", "direcciones", "valores", "listas", "claves", "bloques", "títulos", "totales",
    ),
    requests=(
        "Añade {name} al {area}, por favor.",
        "Al {area} le falta {name}; impleméntalo y cúbrelo con pruebas.",
        "Hay que montar {name} en el {area}.",
    ),
    constraints=(
        "Mientras haces eso, no toques {name} para nada.",
        "{name} tiene que seguir siendo legible para los clientes antiguos.",
        "No metas dependencias nuevas para {name}.",
    ),
    decisions=(
        "Para esto vamos con {name}, ya lo hemos acordado en el equipo.",
        "Nos quedamos con {name} y dejamos {other} para más adelante.",
        "Al final me decido por {name}.",
    ),
    choices=(
        "Usa {old} como separador de {thing}.",
        "El separador de {thing} será {old}.",
    ),
    corrections=(
        "No, mejor usa {new} como separador de {thing}.",
        "Al final el separador de {thing} tiene que ser {new}.",
    ),
    values=(
        "Para que lo sepas: {name} tiene {number} filas en nuestro cliente más grande.",
        "En preproducción, {name} escucha en el puerto {number}.",
    ),
    conclusions=(
        "La causa es {name}: se lee antes de escribirse.",
        "He visto que {name} no se libera nunca.",
        "Resulta que {name} se calcula dos veces.",
    ),
    measures=(
        "La consulta tarda ahora {number} con el conjunto grande.",
        "Medido: {number} por llamada con la caché caliente.",
    ),
    fillers=(
        "Primero voy a mirar el código.", "Empiezo por la lectura.", "Es un cambio pequeño.",
        "El código sigue el estilo del módulo.", "Todo está como se describe.",
        "He repasado los archivos de la carpeta.",
    ),
    talk=("¡gracias!", "genial", "vale, sigue", "sí", "continúa", "muy bien, gracias", "adelante"),
    welcome="De nada.",
    done="Hecho.",
    steps=("Escribir {name}", "Conectar {name}", "Documentar {name}"),
    reasons=(
        "El cliente lo pidió en la última llamada.",
        "Dos informes antiguos dependen de ello, así que conviene revisarlos.",
        "Ya se probó una vez y hubo que deshacerlo a la semana.",
    ),
)  # fmt: skip

SERBIAN = Wordings(
    areas=(
        "uvoz faktura", "indeks pretrage", "izvoz podataka", "planer isporuke", "prikaz mape",
        "poreski izveštaj", "nedeljni bilten", "keš slika",
    ),
    things=(
        "kolona", "redova", "pasusa", "datuma", "polja", "strana", "grupa", "putanja", "imena",
        "adresa", "vrednosti", "lista", "ključeva", "blokova", "naslova", "zbirova",
    ),
    requests=(
        "Dodaj {name} u {area}, molim te.",
        "Za {area} nam treba {name}, napravi to i pokrij testovima.",
        "Ubaci {name} u {area}.",
    ),
    constraints=(
        "Dok to radiš, {name} nikako ne diraj.",
        "{name} mora da ostane čitljiv starim klijentima.",
        "Nemoj da uvodiš nove zavisnosti zbog {name}.",
    ),
    decisions=(
        "Za ovo idemo sa {name}, tako smo se dogovorili u timu.",
        "Uzećemo {name}, a {other} ostavljamo za kasnije.",
        "Odlučio sam se za {name}.",
    ),
    choices=(
        "Koristi {old} kao separator {thing}.",
        "Neka separator {thing} bude {old}.",
    ),
    corrections=(
        "Ne, ipak koristi {new} kao separator {thing}.",
        "Separator {thing} ipak treba da bude {new}.",
    ),
    values=(
        "Čisto da znaš: {name} kod našeg najvećeg klijenta ima {number} redova.",
        "{name} na stejdžingu sluša na portu {number}.",
    ),
    conclusions=(
        "Uzrok je {name}: čita se pre nego što se upiše.",
        "Vidim da se {name} nigde ne oslobađa.",
        "Ispostavilo se da se {name} računa dvaput.",
    ),
    measures=(
        "Upit sada traje {number} na velikom skupu.",
        "Izmereno: {number} po pozivu sa toplim kešom.",
    ),
    fillers=(
        "Prvo ću pogledati kod.", "Krećem od čitanja.", "Ovo je mala izmena.",
        "Kod prati stil modula.", "Sve je na mestu kako je opisano.",
        "Prošao sam kroz fajlove u folderu.",
    ),
    talk=("hvala!", "super", "važi, nastavi", "da", "može dalje", "odlično, hvala ti", "ajde"),
    welcome="Nema na čemu.",
    done="Gotovo.",
    steps=("Napisati {name}", "Povezati {name}", "Dokumentovati {name}"),
    reasons=(
        "Klijent je to tražio na poslednjem sastanku.",
        "Dva starija izveštaja zavise od toga, pa proveri i njih.",
        "To je već jednom probano i vraćeno posle nedelju dana.",
    ),
)  # fmt: skip

RUSSIAN = Wordings(
    areas=(
        "импорт счетов", "поисковый индекс", "модуль выгрузки", "планировщик доставки",
        "просмотр карты", "налоговый отчёт", "недельную рассылку",
    ),
    things=(
        "колонок", "строк", "абзацев", "дат", "полей", "страниц", "групп", "путей", "имён",
        "адресов", "значений", "списков", "ключей", "блоков", "заголовков", "итогов",
    ),
    requests=(
        "Добавь, пожалуйста, {name} в {area}.",
        "Нужно встроить {name} в {area} и покрыть тестами.",
        "Сделай {name} и подключи в {area}.",
    ),
    constraints=(
        "При этом {name} ни в коем случае не трогай.",
        "{name} должен остаться читаемым для старых клиентов.",
        "Новых зависимостей ради {name} не заводи.",
    ),
    decisions=(
        "Здесь берём {name}, в команде уже договорились.",
        "Остановимся на {name}, а {other} отложим на потом.",
        "Я решил, что делаем через {name}.",
    ),
    choices=(
        "Возьми {old} как разделитель {thing}.",
        "Пусть разделитель {thing} будет {old}.",
    ),
    corrections=(
        "Нет, лучше возьми {new} как разделитель {thing}.",
        "Разделитель {thing} всё-таки должен быть {new}.",
    ),
    values=(
        "К сведению: у самого крупного клиента в {name} {number} строк.",
        "На стенде {name} слушает порт {number}.",
    ),
    conclusions=(
        "Причина в {name}: чтение идёт раньше записи.",
        "Оказалось, что {name} нигде не освобождается.",
        "Выяснилось, что {name} вычисляется дважды.",
    ),
    measures=(
        "Запрос на большом наборе теперь занимает {number}.",
        "Замер: {number} на вызов при прогретом кэше.",
    ),
    fillers=(
        "Сначала посмотрю код.", "Начну с чтения.", "Это небольшая правка.",
        "Код выдержан в стиле модуля.", "Всё на месте, как описано.",
        "Я просмотрел файлы в этой папке.",
    ),
    talk=("спасибо!", "отлично", "ок, продолжай", "да", "дальше", "супер, спасибо", "давай"),
    welcome="Пожалуйста.",
    done="Готово.",
    steps=("Написать {name}", "Подключить {name}", "Описать {name}"),
    reasons=(
        "Клиент просил об этом на последнем созвоне.",
        "От этого зависят два старых отчёта, их тоже надо проверить.",
        "Так уже пробовали, и через неделю пришлось откатить.",
    ),
)  # fmt: skip

CHINESE = Wordings(
    areas=("发票导入", "搜索索引", "导出任务", "配送计划", "地图视图", "税务报表", "每周简报"),
    things=(
        "列", "行", "段落", "日期", "字段", "页面", "分组", "路径", "姓名", "地址", "数值", "列表",
        "键名", "区块", "标题", "合计",
    ),
    requests=(
        "请在{area}里加上 {name}。",
        "{area}还缺 {name}，实现一下并补上测试。",
        "帮我把 {name} 接到{area}里。",
    ),
    constraints=(
        "做这个的时候千万别动 {name}。",
        "{name} 必须保证旧客户端还能读。",
        "不要为 {name} 引入新的依赖。",
    ),
    decisions=(
        "这里就用 {name}，团队已经商量好了。",
        "先用 {name}，{other} 以后再说。",
        "我决定采用 {name}。",
    ),
    choices=("{thing}分隔符用 {old}。", "把{thing}分隔符设成 {old}。"),
    corrections=("不对，{thing}分隔符改用 {new}。", "{thing}分隔符还是应该用 {new}。"),
    values=(
        "顺便说一下，我们最大的客户那边 {name} 有 {number} 行。",
        "测试环境里 {name} 跑在 {number} 端口上。",
    ),
    conclusions=(
        "根本原因在 {name}：还没写入就被读取了。",
        "我发现 {name} 从来没有被释放。",
        "原来 {name} 被计算了两次。",
    ),
    measures=("大数据集上的查询现在需要 {number}。", "实测：缓存预热后每次调用 {number}。"),
    fillers=(
        "我先看看代码。", "我从读取部分开始。", "这是个小改动。", "代码沿用了模块的风格。",
        "一切都和描述的一样。", "我看了一遍这个目录里的文件。",
    ),
    talk=("谢谢！", "很好", "好的，继续", "是的", "继续吧", "不错，谢谢你", "可以"),
    welcome="不客气。",
    done="完成了。",
    steps=("编写 {name}", "接入 {name}", "为 {name} 写文档"),
    reasons=(
        "这是客户在上次电话会议里专门提出来的要求，所以一定要照着做。",
        "有两份旧报表依赖它，改动之后记得把那两份报表也一起检查一遍。",
        "以前试过一次别的做法，结果一个星期之后又不得不全部撤了回来。",
    ),
    between="",
)  # fmt: skip

JAPANESE = Wordings(
    areas=(
        "請求書の取り込み", "検索インデックス", "エクスポート処理", "配送プランナー", "地図ビュー",
        "税務レポート", "週次ダイジェスト",
    ),
    things=(
        "列", "行", "段落", "日付", "項目", "ページ", "グループ", "パス", "氏名", "住所", "値",
        "リスト", "キー", "ブロック", "見出し", "合計",
    ),
    requests=(
        "{area}に {name} を追加してください。",
        "{area}には {name} が必要なので、実装してテストも書いてください。",
        "{name} を{area}に組み込んでもらえますか。",
    ),
    constraints=(
        "その際、{name} には絶対に手を入れないでください。",
        "{name} は古いクライアントでも読めるままにしてください。",
        "{name} のために依存関係を増やさないでください。",
    ),
    decisions=(
        "ここは {name} で行きます。チームでも合意済みです。",
        "{name} を採用して、{other} は後回しにしましょう。",
        "{name} にすることに決めました。",
    ),
    choices=(
        "{thing}の区切り文字は {old} にしてください。",
        "{thing}の区切り文字には {old} を使ってください。",
    ),
    corrections=(
        "いや、{thing}の区切り文字は {new} にしてください。",
        "やはり{thing}の区切り文字には {new} を使ってください。",
    ),
    values=(
        "参考までに、一番大きい顧客の {name} は {number} 行あります。",
        "ステージングでは {name} がポート {number} で動いています。",
    ),
    conclusions=(
        "根本原因は {name} で、書き込む前に読まれています。",
        "{name} が一度も解放されていないことが分かりました。",
        "{name} は二重に計算されていました。",
    ),
    measures=(
        "大きいデータでのクエリは {number} になりました。",
        "計測結果は、キャッシュが温まった状態で 1 回あたり {number} です。",
    ),
    fillers=(
        "まずコードを確認します。", "読み込みから始めます。", "小さな変更です。",
        "コードはモジュールの書き方に合わせています。", "説明のとおりになっています。",
        "このフォルダーのファイルに目を通しました。",
    ),
    talk=("ありがとう！", "いいね", "はい、続けて", "はい", "続けてください", "どうも", "どうぞ"),
    welcome="どういたしまして。",
    done="完了しました。",
    steps=("{name} を書く", "{name} をつなぐ", "{name} の説明を書く"),
    reasons=(
        "前回の打ち合わせでお客様から直接要望のあった内容なので、必ず守る必要があります。",
        "古いレポートが二つこれに依存しているため、そちらも忘れずに確認してください。",
        "以前も一度試しましたが、一週間ほどで元に戻さざるを得なくなった経緯があります。",
    ),
    between="",
)  # fmt: skip

TURKISH = Wordings(
    areas=(
        "fatura aktarımı", "arama dizini", "dışa aktarma işi", "teslimat planı",
        "harita görünümü", "vergi raporu", "haftalık bülten",
    ),
    things=(
        "sütun", "satır", "paragraf", "tarih", "alan", "sayfa", "grup", "yol", "isim", "adres",
        "değer", "liste", "anahtar", "blok", "başlık", "toplam",
    ),
    requests=(
        "Lütfen {area} için {name} ekle.",
        "{area} tarafında {name} eksik, onu yaz ve testlerini de ekle.",
        "{area} için bir {name} lazım, yapar mısın.",
    ),
    constraints=(
        "Bunu yaparken {name} kısmına sakın dokunma.",
        "{name} eski istemcilerde de okunabilir kalmalı.",
        "{name} için yeni bağımlılık ekleme.",
    ),
    decisions=(
        "Bunun için {name} kullanıyoruz, ekipte böyle anlaştık.",
        "{name} ile gidelim, {other} sonraya kalsın.",
        "{name} yapmaya karar verdim.",
    ),
    choices=(
        "{thing} ayırıcısı olarak {old} kullan.",
        "{thing} ayırıcısı {old} olsun.",
    ),
    corrections=(
        "Hayır, {thing} ayırıcısı olarak {new} kullan.",
        "Aslında {thing} ayırıcısı {new} olmalı.",
    ),
    values=(
        "Bilgin olsun: en büyük müşterimizde {name} {number} satır.",
        "Test ortamında {name} {number} portunda çalışıyor.",
    ),
    conclusions=(
        "Asıl neden {name}: yazılmadan önce okunuyor.",
        "{name} hiçbir yerde serbest bırakılmıyor.",
        "Meğer {name} iki kez hesaplanıyormuş.",
    ),
    measures=(
        "Sorgu büyük kümede artık {number} sürüyor.",
        "Ölçüm: önbellek sıcakken çağrı başına {number}.",
    ),
    fillers=(
        "Önce koda bakayım.", "Okuma kısmından başlıyorum.", "Bu küçük bir değişiklik.",
        "Kod modülün üslubuna uyuyor.", "Her şey anlatıldığı gibi.",
        "Bu klasördeki dosyaları gözden geçirdim.",
    ),
    talk=("teşekkürler!", "harika", "tamam, devam et", "evet", "devam", "güzel, sağ ol", "olur"),
    welcome="Rica ederim.",
    done="Bitti.",
    steps=("{name} yaz", "{name} bağla", "{name} belgele"),
    reasons=(
        "Müşteri bunu son görüşmede istedi.",
        "İki eski rapor buna bağlı, onları da kontrol et.",
        "Bu daha önce bir kez denendi ve bir hafta sonra geri alındı.",
    ),
)  # fmt: skip

LANGUAGES = {
    "english": ENGLISH,
    "german": GERMAN,
    "spanish": SPANISH,
    "serbian": SERBIAN,
    "russian": RUSSIAN,
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "turkish": TURKISH,
}
